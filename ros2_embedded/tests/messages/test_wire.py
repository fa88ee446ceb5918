"""Type hashes, key expressions, tokens, QoS text, GIDs and attachments."""

from __future__ import annotations

import pytest
import xxhash
from rosbags.typesys import Stores, get_typestore

from ros2_embedded.rosidl.type_hash import type_hash
from ros2_embedded.wire import qos_text, tokens
from ros2_embedded.wire.keys import Attachment, data_key, dds_type, gid_of, interface_name
from ros2_embedded.wire.qos_text import WireQoS

STRING_HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
# example_interfaces/srv/AddTwoInts as the design page of rmw_zenoh prints it.
ADD_HASH = "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"
# rosbags hashes `char` as a type of its own, rosidl as uint8.
WITH_CHAR = ("Gid", "Char", "ServiceEventInfo", "EntitiesInfo")


def test_golden_hashes() -> None:
    assert type_hash("std_msgs/msg/String") == STRING_HASH
    assert type_hash("example_interfaces/srv/AddTwoInts") == ADD_HASH


def test_hashes_agree_with_rosbags() -> None:
    store = get_typestore(Stores.ROS2_JAZZY)
    names = [name for name in store.fielddefs if not name.endswith(WITH_CHAR)]
    assert len(names) > 150
    assert [name for name in names if type_hash(name) != store.hash_rihs01(name)] == []


def test_keys() -> None:
    assert dds_type("std_msgs/msg/String") == "std_msgs::msg::dds_::String_"
    assert interface_name("std_msgs::msg::dds_::String_") == "std_msgs/msg/String"
    key = data_key(3, "/rob/chatter", dds_type("std_msgs/msg/String"), STRING_HASH)
    assert key == f"3/rob/chatter/std_msgs::msg::dds_::String_/{STRING_HASH}"


@pytest.mark.parametrize(
    ("qos", "text"),
    [
        (WireQoS(depth=10), "::,10:,:,:,,"),
        (WireQoS(), "::,:,:,:,,"),
        (WireQoS(reliability=2, depth=1), "2::,1:,:,:,,"),
        (WireQoS(durability=1, history=2), ":1:2,:,:,:,,"),
        (WireQoS(depth=5, deadline=1_500_000_000, lease=2), "::,5:1,500000000:,:,0,2"),
    ],
)
def test_qos_text_is_canonical_and_comes_back(qos: WireQoS, text: str) -> None:
    assert qos_text.encode(qos) == text
    assert qos_text.decode(text) == qos


def test_tokens_come_back() -> None:
    name = ("/rob/chatter", dds_type("std_msgs/msg/String"), STRING_HASH)
    key = tokens.endpoint_token(7, "abc", 1, 4, tokens.PUBLISHER, ("/rob", "talker"), name, WireQoS(depth=10))
    assert "/MP/%/%rob/talker/%rob%chatter/" in key
    record = tokens.parse_token(key + "/part/of/a/newer/version")
    assert isinstance(record, tokens.EndpointRecord)
    assert (record.name, record.type_name, record.node.namespace) == (
        "/rob/chatter",
        "std_msgs/msg/String",
        "/rob",
    )
    node = tokens.parse_token(tokens.node_token(7, "abc", 1, "/", "talker"))
    assert isinstance(node, tokens.NodeRecord)
    assert (node.namespace, node.name) == ("/", "talker")


# No queue is as long, and a recorder would make one of this length.
HUGE = f"@ros2_lv/0/a/1/2/MP/%/%/n/%t/T/H/::,{2**63}:,:,:,,"


@pytest.mark.parametrize("key", ["", "@ros2_lv/0/a", "x/" * 14, "@ros2_lv/0/a/1/2/MP/%/%/n/%t/T/H/bad", HUGE])
def test_foreign_tokens_are_ignored(key: str) -> None:
    assert tokens.parse_token(key) is None


def test_gid_is_low_half_first() -> None:
    digest = xxhash.xxh3_128_intdigest(b"some/key")
    low, high = digest & (2**64 - 1), digest >> 64
    assert gid_of("some/key") == low.to_bytes(8, "little") + high.to_bytes(8, "little")


def test_attachment_has_33_bytes() -> None:
    attachment = Attachment(5, 1_700_000_000_000_000_000, bytes(range(16)))
    data = attachment.encode()
    assert len(data) == 33
    assert data[16] == 16
    assert Attachment.decode(data) == attachment
    with pytest.raises(ValueError, match="33"):
        Attachment.decode(data[:-1])

"""What the parts of a run are told, a file a part; `config` puts them together."""

"""The `mini` family: small language-conditioned visuomotor policies that run on a CPU, in process."""

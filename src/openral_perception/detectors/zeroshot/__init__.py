"""Large open-vocabulary detectors in a sidecar: any words, a box for each."""

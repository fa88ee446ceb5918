"""Large open-vocabulary detectors in a sidecar: they find boxes of objects for any words."""

"""Stands in for upstream's package: names and signatures that our launcher touches, random weights behind them."""

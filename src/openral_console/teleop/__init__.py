"""An operator moves the arm by hand: what keys mean, who may, and for how long."""

//! Simulation: the substep loop and one module per material.

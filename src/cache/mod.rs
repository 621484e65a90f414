//! What a bake leaves on disk: particle and surface caches, manifest, checkpoints.

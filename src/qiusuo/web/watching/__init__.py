"""For whoever watches the server: health, metrics, traces, figures of use, and how the engines fared lately."""

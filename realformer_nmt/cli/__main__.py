"""`python -m realformer_nmt.cli`: the same as `realformer-nmt`."""

import sys

from realformer_nmt.cli import main

sys.exit(main())

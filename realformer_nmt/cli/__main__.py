"""`python -m realformer_nmt.cli`, which is `realformer-nmt`."""

import sys

from realformer_nmt.cli import main

sys.exit(main())

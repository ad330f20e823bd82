"""MoDA, which has ADMIN's topology and scaling, with four others."""

from realformer_nmt import plugin

plugin.add_family("moda_pre_ln", topology="pre", carry="moda")
plugin.add_family("moda_post_ln", topology="post", carry="moda")
plugin.add_family("moda_deepnorm", topology="post", scaling="deepnorm", carry="moda")
plugin.add_family("moda_resi_dual", topology="dual", carry="moda")

"""A run of the server: models are loaded, then requests are answered until it is told to end."""

from realformer_nmt.serving.serve import ServeRequest

LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")


def run(request: ServeRequest) -> int:
    from realformer_nmt.serving import app as interface  # here: its packages are of an extra
    from realformer_nmt.serving import served_models, server
    from realformer_nmt.serving.batching import Batches

    with server.bound(request.host, request.port) as listening:
        models = served_models.serve(request)
        batches = Batches(request.most_waiting)
        hosts = [*LOCAL_NAMES, server.in_address(request.host), *request.name]
        app = interface.interface(models, batches, request.limits(), hosts)
        print(f"{', '.join(models)}: {server.address(request.host, listening)}", flush=True)
        server.run(server.build(app, request.most_seconds), listening)
        batches.close()
    return 0

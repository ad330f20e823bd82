# The package and the fairseq that it is tested with, and a user without rights.
#   docker build --tag realformer-nmt .                                         # for a CPU
#   docker build --tag realformer-nmt --build-arg TORCH_INDEX= .                # with CUDA, as PyPI has torch
#   docker run --rm --volume "$PWD:/work" realformer-nmt realformer-nmt archs
ARG PYTHON=3.11
FROM python:${PYTHON}-bookworm AS build
ARG TORCH=torch==2.13.0
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
WORKDIR /opt/realformer_nmt
COPY . .
RUN make install VENV=/opt/venv TORCH="${TORCH}" TORCH_INDEX="${TORCH_INDEX}"

FROM python:${PYTHON}-slim-bookworm
COPY --from=build /opt/realformer_nmt /opt/realformer_nmt
COPY --from=build /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
RUN useradd --create-home --uid 1000 researcher
USER 1000
WORKDIR /work
CMD ["realformer-nmt", "--help"]

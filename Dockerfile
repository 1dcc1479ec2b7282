# The command on a CPU: docker build -t fasterroof . && docker run --rm fasterroof hardware "H100 SXM"
# This image was not built yet.
FROM python:3.12-slim
RUN pip install --no-cache-dir torch torchvision --index-url https://download.pytorch.org/whl/cpu
COPY . /src
RUN pip install --no-cache-dir '/src[vision,probes,contract]' \
    && useradd --create-home user && mkdir /work && chown user /work
USER user
WORKDIR /work
ENTRYPOINT ["fasterroof"]

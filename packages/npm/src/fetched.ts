// A module from the server that the page came from.

export async function fetched(address: URL): Promise<ArrayBuffer> {
  const response = await fetch(address);
  if (!response.ok) {
    throw new Error(
      `cannot load ${address.href}: ${response.status} ${response.statusText} (serve the file, or import the entry point that ends with "/inline")`,
    );
  }
  return response.arrayBuffer();
}

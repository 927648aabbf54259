import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type BaseImage, type BaseImages, baseImages, baseImagesFile } from './base-images.ts';

/**
 * `npm run base-images [-- FILE]`: writes the digests that the tags have now into base-images.json, or another file of its
 * form.
 */

/** An index of one image for several platforms (OCI image specification, and Docker's form of it). */
const indexTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];

/** Of anonymous callers; the challenge names where (OCI distribution specification; RFC 6750). */
const tokenFor = async (challenge: string): Promise<string> => {
  const parameters = new Map(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const realm = parameters.get('realm');
  if (!realm) throw new Error(`the registry's challenge has no realm: ${challenge}`);
  parameters.delete('realm');
  const response = await fetch(`${realm}?${new URLSearchParams([...parameters])}`);
  if (!response.ok) throw new Error(`${realm}: HTTP ${response.status}`);
  const { token, access_token = token } = (await response.json()) as { token?: string; access_token?: string };
  if (!access_token) throw new Error(`${realm}: the response has no token`);
  return access_token;
};

/**
 * Digest of a tag, computed from the index itself.
 * @param scheme for tests
 * @throws {Error} if the registry does not have it, or has an image for one platform only
 */
export const digestOf = async ({ repository, tag }: BaseImage, scheme = 'https'): Promise<string> => {
  const [host = '', ...path] = repository.split('/');
  const url = `${scheme}://${host}/v2/${path.join('/')}/manifests/${tag}`;
  const headers = { accept: indexTypes.join(', ') };
  let response = await fetch(url, { headers });
  if (response.status === 401) {
    const token = await tokenFor(response.headers.get('www-authenticate') ?? '');
    response = await fetch(url, { headers: { ...headers, authorization: `Bearer ${token}` } });
  }
  if (!response.ok) throw new Error(`${repository}:${tag}: HTTP ${response.status}`);
  const content = Buffer.from(await response.arrayBuffer());
  const { mediaType = response.headers.get('content-type') } = JSON.parse(content.toString()) as { mediaType?: string };
  if (!indexTypes.includes(mediaType ?? ''))
    throw new Error(`${repository}:${tag}: ${mediaType} is not an image index`);
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  const announced = response.headers.get('docker-content-digest') ?? digest;
  if (announced !== digest)
    throw new Error(`${repository}:${tag}: the registry announces ${announced}, but sent ${digest}`);
  return digest;
};

/** All or none. */
export const refresh = async (images: BaseImages, scheme?: string): Promise<BaseImages> => {
  const entries = Object.entries(images).map(async ([name, image]) => [
    name,
    { ...image, digest: await digestOf(image, scheme) },
  ]);
  return Object.fromEntries(await Promise.all(entries)) as BaseImages;
};

/** @throws {Error} if a registry does not answer, or lacks an image; the file is unchanged then */
const main = async (file: string): Promise<void> => {
  const before = baseImages(file);
  const after = await refresh(before);
  const lines = Object.entries(after).map(
    ([name, image]) => `  ${JSON.stringify(name)}: ${JSON.stringify(image, null, 1).replaceAll(/\n\s*/g, ' ')}`,
  );
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
  for (const [name, { repository, tag, digest }] of Object.entries(after)) {
    const changed = before[name as keyof BaseImages].digest === digest ? 'unchanged' : 'new';
    console.log(`${repository}:${tag} ${digest} (${changed})`);
  }
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , file = baseImagesFile] = process.argv;
  await main(file).catch(({ message, cause }: Error) => {
    console.error(`${file} is unchanged: ${message}${cause instanceof Error ? ` (${cause.message})` : ''}`);
    process.exitCode = 1;
  });
}

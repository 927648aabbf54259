import * as v from 'valibot';
import { download } from '#platform/net/outbound/download.ts';
import { OutboundError } from '#platform/net/outbound/errors.ts';
import { putStream } from '#platform/store/bucket.ts';
import { objects } from '#platform/store/keys.ts';
import { hostOf } from '#run/protocols/provider-package.ts';
import type { PackageName } from './records.ts';

/**
 * Fetches a package from its registry into the bucket without credentials, so that only public content is stored.
 * Storage verifies the checksum that the registry publishes, and the package is stored under it. Signatures are not
 * checked: a runner uses only content whose checksum is in its run's lock file.
 */

const maxDocumentBytes = 1024 * 1024;
/** The AWS provider, the largest in wide use, has some 170 MB. */
const maxPackageBytes = 600 * 1024 * 1024;

const document = v.object({
  download_url: v.string(),
  shasum: v.pipe(
    v.string(),
    v.transform((text) => text.toLowerCase()),
    v.regex(/^[0-9a-f]{64}$/),
  ),
});
const discovery = v.object({ 'providers.v1': v.string() });

/** @throws {OutboundError} */
const open = async (url: URL) => {
  if (url.protocol !== 'https:') throw new OutboundError('forbidden', `${url.host} must be reached by https`);
  const answer = await download({ url: url.href, headers: { accept: '*/*', 'user-agent': 'stepform' } });
  if (answer.statusCode === 200) return answer;
  answer.destroy();
  throw new OutboundError('unreachable', `${url.host} answered ${answer.statusCode}`);
};

const readDocument = async <S extends v.GenericSchema>(url: URL, schema: S): Promise<v.InferOutput<S>> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of await open(url)) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > maxDocumentBytes) throw new OutboundError('unreachable', `the response of ${url.host} is too large`);
  }
  return v.parse(schema, JSON.parse(Buffer.concat(chunks).toString('utf8')));
};

/**
 * @returns hex SHA-256 of the stored zip
 * @throws {Error} if the registry does not have it, or has something else
 */
export const fetchPackage = async ({ address, version, platform }: PackageName): Promise<string> => {
  const [, namespace = '', type = ''] = address.split('/');
  const [os = '', architecture = ''] = platform.split('_');
  // Terraform: remote service discovery, and provider registry protocol.
  const root = new URL(`https://${hostOf(address)}/.well-known/terraform.json`);
  const { 'providers.v1': base } = await readDocument(root, discovery);
  const path = [namespace, type, version, 'download', os, architecture].map(encodeURIComponent).join('/');
  const described = new URL(path, new URL(base.endsWith('/') ? base : `${base}/`, root));
  const { download_url: url, shasum } = await readDocument(described, document);
  const body = await open(new URL(url, described));
  try {
    const size = Number(body.headers['content-length']);
    if (!(size > 0 && size <= maxPackageBytes)) throw new Error(`its size, ${size} bytes, is not allowed`);
    await putStream(objects.sharedProvider(shasum), body, { size, sha256: shasum, type: 'application/zip' });
  } finally {
    body.destroy();
  }
  return shasum;
};

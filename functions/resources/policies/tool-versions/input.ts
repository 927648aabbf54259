import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, text } from '#api/validation.ts';
import { optionalWebAddress, webAddress } from '#api/web-address.ts';
import type { Build, ToolVersion } from './records.ts';

const versionNumber = v.pipe(
  text(50),
  v.regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/, 'must be an exact version, e.g. 0.59.0'),
);
const sha = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{64}$/i, 'must be the SHA-256 of the file, 64 hexadecimal digits'),
  v.transform((digits) => digits.toLowerCase()),
);

const build = v.object({
  url: webAddress(1000),
  sha,
  os: v.literal('linux', 'must be "linux"'),
  arch: v.picklist(['amd64', 'arm64', 's390x']),
});

const archs = v.pipe(
  v.array(build),
  v.maxLength(3, 'may have one build for each architecture'),
  v.check((all) => new Set(all.map(({ arch }) => arch)).size === all.length, 'has two builds for one architecture'),
);

const flag = v.nullish(v.boolean());

const settings = {
  url: optionalWebAddress(1000),
  sha: v.nullish(v.union([v.literal(''), sha])),
  archs: v.nullish(archs),
  official: flag,
  enabled: flag,
  beta: flag,
  deprecated: flag,
  'deprecated-reason': v.nullish(text(500)),
};

const otherFields: OtherFields = { shown: 'created-at usage' };

type Settings = Omit<ToolVersion, 'id' | 'createdAt'>;
type Input = { [name in keyof typeof settings]?: v.InferOutput<(typeof settings)[name]> };

/** `archs` win over `url` and `sha`, which stand for a build for amd64. */
const buildsOf = ({ url, sha: sum, archs: all }: Input, before: Build[]): Build[] => {
  if (all?.length) return all;
  if (!url && !sum) return before;
  const former = before.find(({ arch }) => arch === 'amd64');
  const changed = { url: url || former?.url, sha: sum || former?.sha };
  if (!changed.url || !changed.sha) {
    throw unprocessable(
      `/data/attributes/${changed.url ? 'sha' : 'url'}`,
      `${changed.url ? 'sha' : 'url'}: is missing; send url and sha, or archs`,
    );
  }
  return [{ url: changed.url, sha: changed.sha, os: 'linux', arch: 'amd64' }];
};

const settingsOf = (attributes: Input & { version: string }, before: Omit<Settings, 'version'>): Settings => {
  const { version, official, enabled, beta, deprecated, 'deprecated-reason': reason } = attributes;
  return {
    version,
    archs: buildsOf(attributes, before.archs),
    official: official ?? before.official,
    enabled: enabled ?? before.enabled,
    beta: beta ?? before.beta,
    deprecated: deprecated ?? before.deprecated,
    deprecatedReason: reason === undefined ? before.deprecatedReason : reason || null,
  };
};

const fresh = { archs: [], official: false, enabled: true, beta: false, deprecated: false, deprecatedReason: null };

/** @throws {ApiError} 400 or 422 */
export const readNewToolVersion = (request: ApiRequest): Settings => {
  const { attributes } = readData(request, { ...settings, version: versionNumber }, {}, otherFields);
  const read = settingsOf(attributes, fresh);
  if (read.archs.length === 0)
    throw unprocessable('/data/attributes/url', 'url: is missing; send url and sha, or archs');
  return read;
};

/** @throws {ApiError} 400 or 422 */
export const readToolVersionChange = (request: ApiRequest): ((before: ToolVersion) => ToolVersion) => {
  const { attributes } = readData(request, { ...settings, version: v.nullish(versionNumber) }, {}, otherFields);
  return (before) => ({
    ...before,
    ...settingsOf({ ...attributes, version: attributes.version ?? before.version }, before),
  });
};

import compare from 'semver/functions/compare.js';
import valid from 'semver/functions/valid.js';
import type { Resource } from '#api/answer.ts';
import { environment } from '#platform/environment.ts';
import { type TerraformRelease, terraformOnPath, terraformReleases } from '#platform/net/binary/terraform-releases.ts';
import { messageOf } from '#platform/net/transport/errors.ts';

/** Terraform versions that runners can use: the bundled one, and every released one, which they download. */
export interface TerraformVersions {
  /** Newest first. */
  versions: TerraformRelease[];
  /** Reason for missing released versions. */
  problem?: string;
}

const keepMs = 10 * 60_000;
/** A list of releases has several megabytes. */
const readMs = 15_000;

let cached: { releases: TerraformRelease[]; until: number } | undefined;

const released = async (): Promise<TerraformRelease[]> => {
  if (cached && cached.until > Date.now()) return cached.releases;
  const releases = await terraformReleases(environment.terraformReleases, AbortSignal.timeout(readMs));
  cached = { releases, until: Date.now() + keepMs };
  return releases;
};

const atHand = async (): Promise<string[]> => {
  const version = (await terraformOnPath(environment.searchPath.join(':'))) ?? environment.runnerTerraformVersion;
  return version ? [version] : [];
};

export const terraformVersions = async (): Promise<TerraformVersions> => {
  const [own, listed] = await Promise.all([
    atHand(),
    released().catch((error) => ({ problem: `The list of released versions could not be read: ${messageOf(error)}.` })),
  ]);
  const releases = Array.isArray(listed) ? listed : [];
  const all = new Map(
    [...own.map((version) => ({ version })), ...releases].map((release) => [release.version, release]),
  );
  const versions = [...all.values()]
    .filter(({ version }) => valid(version))
    .sort((a, b) => compare(b.version, a.version));
  return Array.isArray(listed) ? { versions } : { versions, problem: listed.problem };
};

const idOf = (version: string): string => `tool-${version}`;

/** The release with this id, or undefined. */
export const findVersion = ({ versions }: TerraformVersions, id: string): TerraformRelease | undefined =>
  versions.find(({ version }) => idOf(version) === id);

/** Terraform Enterprise's format. Values that this platform does not know are null. */
export const terraformVersionDocument = ({ version, builds = [] }: TerraformRelease): Resource => {
  const linux = builds.filter(({ os, arch }) => os === 'linux' && (arch === 'amd64' || arch === 'arm64'));
  return {
    id: idOf(version),
    type: 'terraform-versions',
    attributes: {
      version,
      url: linux.find(({ arch }) => arch === 'amd64')?.url ?? null,
      sha: null,
      deprecated: false,
      'deprecated-reason': null,
      official: true,
      enabled: true,
      beta: version.includes('-'),
      usage: null,
      'created-at': null,
      archs: linux.map(({ url, os, arch }) => ({ url, sha: null, os, arch })),
    },
    links: { self: `/api/v2/admin/terraform-versions/${idOf(version)}` },
  };
};

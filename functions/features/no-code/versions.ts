import { unprocessable } from '#api/errors.ts';
import { getObject } from '#platform/store/bucket.ts';
import { addressOf } from '#resources/registry/modules/document.ts';
import type { Details } from '#resources/registry/modules/ingest.ts';
import type { Module, ModuleVersion } from '#resources/registry/modules/records.ts';
import { getSettledVersion, published } from '#resources/registry/modules/uploads.ts';
import { newestStable } from '#resources/registry/versions.ts';
import { publicRelease } from './public-release.ts';
import type { NoCodeModule } from './records.ts';
import type { Release } from './release.ts';

/** The module version from which a no-code module creates workspaces, and its declarations. */

const latest = 'latest';

const isPinned = ({ versionPin }: Pick<NoCodeModule, 'versionPin'>): boolean =>
  versionPin !== undefined && versionPin !== latest;

const failed = ['reg_ingress_failed', 'clone_failed'];

/** The pin may name a version that is not uploaded yet, as in HCP Terraform. @throws {ApiError} 422 */
export const checkPin = async (module: Module, pin: string | undefined): Promise<void> => {
  if (pin === undefined || pin === latest) return;
  if (module.registry === 'public') {
    if (await publicRelease(module, pin)) return;
  } else {
    const version = await getSettledVersion(module, pin);
    if (version && !failed.includes(version.status)) return;
  }
  throw unprocessable(
    '/data/attributes/version-pin',
    `version-pin: must be "latest" or an existing version of ${addressOf(module)}`,
  );
};

const detailsOf = async ({ version, detailsKey }: ModuleVersion): Promise<Release | undefined> => {
  const content = detailsKey && (await getObject(detailsKey));
  return content ? { version, root: (JSON.parse(content.toString('utf8')) as Details).root } : undefined;
};

/** The details of a published version; undefined for others. */
export const releaseOf = async (module: Module, version: string): Promise<Release | undefined> => {
  if (module.registry === 'public') return publicRelease(module, version);
  const settled = await getSettledVersion(module, version);
  return settled?.status === 'ok' ? detailsOf(settled) : undefined;
};

/** The version for new workspaces; undefined while none is published. */
export const currentRelease = async (
  module: Module,
  pin: Pick<NoCodeModule, 'versionPin'>,
): Promise<Release | undefined> => {
  if (isPinned(pin)) return releaseOf(module, pin.versionPin as string);
  if (module.registry === 'public') return publicRelease(module);
  const usable = (await published(module)).versions.filter(({ status }) => status === 'ok');
  const newest = newestStable(usable);
  return newest && detailsOf(newest);
};

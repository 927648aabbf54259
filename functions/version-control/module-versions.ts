import parse from 'semver/functions/parse.js';
import { derivedId } from '#platform/store/id.ts';
import {
  countVersions,
  createModuleVersion,
  getModule,
  getModuleVersion,
  type Module,
  maxModuleVersions,
} from '#resources/registry/modules/records.ts';
import { markUnsettled, requestArchive, waitForArchive } from './archives.ts';
import type { RepositoryTask } from './deliveries.ts';
import { counted, fetchLater, forEach, type Handling, type Outcome } from './handling.ts';
import type { Pushed } from './moves.ts';
import { type FollowedRepository, isModule } from './repositories.ts';

/** Tags as versions of the modules that follow a repository (HCP Terraform: publish modules by tags). */

/** The version in `v1.2.0` or `1.2.0` after the prefix; undefined for any other tag. */
export const versionOfTag = (tag: string, prefix: string): string | undefined => {
  if (!tag.startsWith(prefix)) return undefined;
  const text = tag.slice(prefix.length).replace(/^v/, '');
  return /^\d/.test(text) && text.length <= 100 && parse(text) ? text : undefined;
};

type Published = 'published' | 'there' | 'full';

/** A published version stays unchanged, even if its tag moves. Can be repeated. */
const publish = async (
  module: Module,
  repository: FollowedRepository,
  { version, sha }: { version: string; sha: string },
): Promise<Published> => {
  const id = derivedId('modver', `${module.id} ${version} ${sha}`);
  const existing = await getModuleVersion(module.id, version);
  // An earlier attempt for this commit may have been interrupted.
  if (existing && (existing.id !== id || existing.status !== 'cloning')) return 'there';
  if (!existing && (await countVersions(module.id)) >= maxModuleVersions) return 'full';
  const archive = await requestArchive(repository, sha, module.vcsRepo?.ingressSubmodules ?? false);
  await waitForArchive(archive, { versionId: id, moduleId: module.id, version });
  await createModuleVersion(module, version, sha, { id, status: 'cloning' });
  await markUnsettled(archive.id);
  await fetchLater(archive);
  return 'published';
};

const nameOf = ({ name, provider }: Module): string => `${name}/${provider}`;

export const modulesOf = async (followers: string[], { id }: FollowedRepository): Promise<Module[]> => {
  const modules = await Promise.all(followers.filter(isModule).map(getModule));
  return modules.filter((module) => module !== undefined).filter(({ vcsRepo }) => vcsRepo?.repository === id);
};

/** Publishes a version of each module that uses the tag. Returns the result for users; undefined when there is none. */
export const publishTag = async (
  { repository }: Handling,
  { tag, sha }: Extract<Pushed, { kind: 'tag' }>,
  modules: Module[],
): Promise<string | undefined> => {
  const words: string[] = [];
  await forEach(modules, async (module) => {
    const version = versionOfTag(tag, module.tagPrefix ?? '');
    if (version === undefined) return;
    const outcome = await publish(module, repository, { version, sha });
    const why = outcome === 'full' ? `it has ${maxModuleVersions} versions, the maximum` : 'it is published already';
    words.push(
      outcome === 'published'
        ? `Publishing ${nameOf(module)} ${version}`
        : `Skipped ${version} of ${nameOf(module)}: ${why}`,
    );
  });
  return words.length ? words.sort().join('; ') : undefined;
};

/** Publishes the tags that the repository already had when it was connected. */
export const handleModule = async (
  { access, repository }: Handling,
  { moduleId }: Extract<RepositoryTask, { kind: 'module' }>,
): Promise<Outcome> => {
  const module = await getModule(moduleId);
  if (module?.vcsRepo?.repository !== repository.id) return { message: 'Skipped: the module was deleted' };
  const tags = await access.forge.tags(access.call, repository.identifier);
  const wanted = tags.flatMap(({ name, sha }) => {
    const version = versionOfTag(name, module.tagPrefix ?? '');
    return version === undefined ? [] : [{ version, sha }];
  });
  let published = 0;
  // Sequentially, since there are few.
  for (const one of wanted) if ((await publish(module, repository, one)) === 'published') published++;
  return { message: `Publishing ${counted(published, 'version')} of ${nameOf(module)} from ${repository.identifier}` };
};

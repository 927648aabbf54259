import type { Resource } from '#clients/client/client.ts';
import { create, get } from './session.ts';
import { type Entry, gzip, isConfigurationFile, tar } from './text/tar.ts';

/** Uploads a picked folder, loose files or an archive, with a configuration or with policies. */

/** Pattern that at least one file must match. */
export interface PickedKind {
  pattern: RegExp;
  /** Display name: `Terraform file (*.tf)`. */
  what: string;
}

export const configuration: PickedKind = { pattern: /\.(tf|tofu)(\.json)?$/, what: 'Terraform file (*.tf)' };
export const policies: PickedKind = { pattern: /(^|\/)(policies|sentinel)\.hcl$/, what: 'policies.hcl' };

export interface Picked {
  /** Display name: `main.tf`, `network (12 files)`. */
  name: string;
  archive(): Promise<Blob>;
}

const entryOf = async (path: string, file: File): Promise<Entry> => ({
  path,
  bytes: new Uint8Array(await file.arrayBuffer()),
});

const ofFiles = (name: string, files: [path: string, file: File][], { pattern, what }: PickedKind): Picked => {
  const included = files.filter(([path]) => isConfigurationFile(path));
  if (!included.some(([path]) => pattern.test(path))) {
    throw new Error(`No ${what} in ${name}. Choose the folder that contains it.`);
  }
  return {
    name: included.length === 1 ? name : `${name} (${included.length} files)`,
    archive: async () => gzip(tar(await Promise.all(included.map(([path, file]) => entryOf(path, file))))),
  };
};

/** The picked folder is the root of the archive, as for the command line. @throws when no file matches */
export const picked = (files: File[], kind: PickedKind): Picked => {
  const [first] = files;
  if (!first) throw new Error('No files selected.');
  if (files.length === 1 && /\.(tar\.gz|tgz)$/.test(first.name))
    return { name: first.name, archive: async () => first };
  const folder = first.webkitRelativePath.split('/')[0];
  if (!folder)
    return ofFiles(
      files.length === 1 ? first.name : 'these files',
      files.map((file) => [file.name, file]),
      kind,
    );
  return ofFiles(
    folder,
    files.map((file) => [file.webkitRelativePath.slice(folder.length + 1), file]),
    kind,
  );
};

const pollMs = 300;
const patienceMs = 30_000;

const uploadTo = async (url: string, body: Blob): Promise<void> => {
  const answer = await fetch(url, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body,
    referrerPolicy: 'no-referrer',
  });
  if (!answer.ok) throw new Error(`Upload failed with status ${answer.status}. Try again.`);
};

/** Waits until the platform has checked the upload. @throws when it times out or is rejected */
const settled = async (path: string, status: string): Promise<string> => {
  for (const deadline = Date.now() + patienceMs; ; ) {
    const version: Resource = await get(path);
    const { attributes } = version;
    if (attributes.status === status) return version.id;
    if (/errored|failed/.test(attributes.status)) {
      throw new Error(attributes['error-message'] || attributes.error || 'The upload was rejected.');
    }
    if (Date.now() > deadline) throw new Error('The upload was not processed in time. Try again.');
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
};

/** @returns the id of the version, once the platform has accepted it */
export const upload = async (workspaceId: string, { archive }: Picked, speculative: boolean): Promise<string> => {
  const body = await archive();
  const version = await create(`/workspaces/${workspaceId}/configuration-versions`, 'configuration-versions', {
    'auto-queue-runs': false,
    speculative,
  });
  await uploadTo(version.attributes['upload-url'], body);
  return settled(`/configuration-versions/${version.id}`, 'uploaded');
};

/** Uploads a new version of a policy set. @throws {Error} with the errors of its policies */
export const uploadPolicies = async (setId: string, { archive }: Picked): Promise<void> => {
  const body = await archive();
  const version = await create(`/policy-sets/${setId}/versions`, 'policy-set-versions', {});
  await uploadTo(version.links?.upload ?? '', body);
  await settled(`/policy-set-versions/${version.id}`, 'ready');
};

/** Uploads a new version of the module at that path. @throws {Error} with the error of its archive */
export const uploadModule = async (path: string, version: string, { archive }: Picked): Promise<void> => {
  const body = await archive();
  const created = await create(`${path}/versions`, 'registry-module-versions', { version });
  await uploadTo(created.links?.upload ?? '', body);
  await settled(`${path}/version?module_version=${encodeURIComponent(version)}`, 'ok');
};

/** Uploads files to test the module at that path with. @returns the id of the configuration version */
export const uploadTests = async (path: string, { archive }: Picked): Promise<string> => {
  const body = await archive();
  const version = await create(`${path}/test-runs/configuration-versions`, 'configuration-versions', {});
  await uploadTo(version.attributes['upload-url'], body);
  return version.id;
};

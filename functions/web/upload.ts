import { call, create } from './session.ts';
import { belongs, type Entry, gzip, tar } from './text/tar.ts';

/** Makes a configuration version of what a reader picked: a folder, loose files, or an archive. */

export interface Picked {
  /** For people: `main.tf`, `network (12 files)`. */
  name: string;
  archive(): Promise<Blob>;
}

const entryOf = async (path: string, file: File): Promise<Entry> => ({
  path,
  bytes: new Uint8Array(await file.arrayBuffer()),
});

const ofFiles = (name: string, files: [path: string, file: File][]): Picked => {
  const kept = files.filter(([path]) => belongs(path));
  if (!kept.some(([path]) => /\.(tf|tofu)(\.json)?$/.test(path))) {
    throw new Error(`There is no Terraform file (*.tf) in ${name}. Pick the folder with your configuration.`);
  }
  return {
    name: kept.length === 1 ? name : `${name} (${kept.length} files)`,
    archive: async () => gzip(tar(await Promise.all(kept.map(([path, file]) => entryOf(path, file))))),
  };
};

/** The folder itself is the root of the configuration, as for the command line. @throws when nothing can be run */
export const picked = (files: File[]): Picked => {
  const [first] = files;
  if (!first) throw new Error('Nothing was picked.');
  if (files.length === 1 && /\.(tar\.gz|tgz)$/.test(first.name))
    return { name: first.name, archive: async () => first };
  const folder = first.webkitRelativePath.split('/')[0];
  if (!folder)
    return ofFiles(
      files.length === 1 ? first.name : 'these files',
      files.map((file) => [file.name, file]),
    );
  return ofFiles(
    folder,
    files.map((file) => [file.webkitRelativePath.slice(folder.length + 1), file]),
  );
};

const pollMs = 300;
const patienceMs = 30_000;

/** @returns the id of the version, once the platform has taken it */
export const upload = async (workspaceId: string, { archive }: Picked, speculative: boolean): Promise<string> => {
  const body = await archive();
  const version = await create(`/workspaces/${workspaceId}/configuration-versions`, 'configuration-versions', {
    'auto-queue-runs': false,
    speculative,
  });
  const put = await fetch(version.attributes['upload-url'], {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body,
    referrerPolicy: 'no-referrer',
  });
  if (!put.ok) throw new Error(`The configuration could not be uploaded (status ${put.status}). Try again.`);
  for (const deadline = Date.now() + patienceMs; ; ) {
    const { attributes } = (await call('GET', `/configuration-versions/${version.id}`)).data;
    if (attributes.status === 'uploaded') return version.id;
    if (attributes.status === 'errored')
      throw new Error(attributes['error-message'] ?? 'The configuration was refused.');
    if (Date.now() > deadline) throw new Error('The platform has not taken the configuration in. Try again.');
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
};

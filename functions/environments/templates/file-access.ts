import { updateExisting } from '#platform/store/table.ts';
import { rightsIn } from '../access.ts';
import type { Call } from '../host/route.ts';
import { keys } from '../keys.ts';
import { type File, getFile } from './files.ts';

/** Files are readable by their uploader, and by users who see a template created from them. */

/** `homes`: organizations and projects of the versions created from the file, as `organization project`. */
type Used = File & { homes?: Set<string> };

export const noteUse = async (file: File, { organization, projectId }: { organization: string; projectId: string }) => {
  await updateExisting(keys.file(file.id), { add: { homes: new Set([`${organization} ${projectId}`]) } });
};

export const readableFile = async ({ principal }: Call, id: string): Promise<File | undefined> => {
  const file = (await getFile(id)) as Used | undefined;
  if (!file || file.createdBy === principal.userId) return file;
  for (const home of file.homes ?? []) {
    const [organization = '', projectId = ''] = home.split(' ');
    if ((await rightsIn(principal, { organization, projectId })).read) return file;
  }
  return undefined;
};

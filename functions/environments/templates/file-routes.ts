import { rightsIn } from '../access.ts';
import { bytes, json } from '../host/answers.ts';
import { CoderError, notFound } from '../host/errors.ts';
import { audited, type Call, type Route, route } from '../host/route.ts';
import { uuidIn } from '../host/uuid.ts';
import { organizationsOf } from '../people/users.ts';
import { filesInTar, tarOf } from './archive.ts';
import { readableFile } from './file-access.ts';
import { readFileContent, storeFile } from './files.ts';
import { filesInZip, zipOf } from './zip.ts';

/** The maximum that reaches a function (api/limits.ts). */
const maxBytes = 4_500_000;

const zipTypes = ['application/zip', 'application/x-zip-compressed'];

/** Uploading requires the right to create template versions in some organization. */
const homeOf = async ({ principal }: Call): Promise<string> => {
  for (const { name, defaultProjectId } of await organizationsOf(principal)) {
    if ((await rightsIn(principal, { organization: name, projectId: defaultProjectId })).manage) return name;
  }
  throw new CoderError(
    403,
    'Forbidden.',
    "You don't have permission to create templates in any of your organizations.",
  );
};

const upload = async (call: Call) => {
  const { request, principal } = call;
  const type = (request.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const isZip = zipTypes.includes(type);
  if (type !== 'application/x-tar' && !isZip) {
    throw new CoderError(400, `Unsupported content type header "${type}".`);
  }
  const organization = await homeOf(call);
  const content = request.bytesOfBody();
  const tar = isZip ? tarOf(await filesInZip(content)) : content;
  await filesInTar(tar);
  return audited(call, organization, { type: 'template_file', action: 'create' }, async () => {
    const { file, isNew } = await storeFile(principal.userId, tar);
    return json(isNew ? 201 : 200, { hash: file.id });
  });
};

const download = async (call: Call) => {
  const { request } = call;
  const format = request.query.get('format') ?? '';
  if (format !== '' && format !== 'zip') {
    throw new CoderError(400, 'Only the tar format or the zip format is supported.', `format is "${format}"`);
  }
  const file = await readableFile(call, uuidIn(request.params.file ?? ''));
  const tar = file && (await readFileContent(file));
  if (!tar) throw notFound();
  return format === 'zip' ? bytes(zipOf(await filesInTar(tar)), 'application/zip') : bytes(tar, 'application/x-tar');
};

export const fileRoutes: Route[] = [
  route('POST', '/files', upload, { maxBytes }),
  route('GET', '/files/{file}', download, { query: ['format'] }),
];

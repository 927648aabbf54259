import { nameOf } from '#api/naming.ts';
import { type Rights, rightsIn } from '../access.ts';
import { workspaceStatus } from '../builds/document.ts';
import { ok } from '../host/answers.ts';
import { pageIn, searchIn } from '../host/body.ts';
import { notFound } from '../host/errors.ts';
import { type Call, type Route, route } from '../host/route.ts';
import { prebuildsUser } from '../host/uuid.ts';
import { findPerson, organizationsOf } from '../people/users.ts';
import { getTemplates, type Template } from '../templates/records.ts';
import { environmentDocument, type Latest } from './document.ts';
import { byName, describe, latestOf, livingById } from './finder.ts';
import { type Environment, favoritesOf, listOfOrganization, listOfOwner } from './records.ts';
import { environmentSettingRoutes } from './setting-routes.ts';

/** Finds and changes environments; create.ts creates them. */

const searchKeys = ['', 'owner', 'name', 'template', 'status', 'outdated', 'dormant', 'organization', 'id'];

/** The owner's environments if the search names one, otherwise those of all the caller's organizations. */
const candidates = async (call: Call, search: Map<string, string>): Promise<Environment[]> => {
  const owner = search.get('owner');
  if (owner !== undefined && owner !== prebuildsUser.username) {
    const person = await findPerson(call, owner);
    return person ? listOfOwner(person.id) : [];
  }
  const within = search.get('organization');
  const organizations = (await organizationsOf(call.principal)).filter(
    ({ name }) => within === undefined || nameOf(name).toLowerCase() === within,
  );
  const all = await Promise.all(organizations.map(({ name }) => listOfOrganization(name)));
  return owner === undefined ? all.flat() : all.flat().filter(({ prebuild }) => prebuild);
};

/** Determines the rights once per project. */
const visible = async ({ principal }: Call, environments: Environment[]): Promise<Environment[]> => {
  const rightsByHome = new Map<string, Rights>();
  const shown: Environment[] = [];
  for (const environment of environments) {
    const home = `${environment.organization} ${environment.projectId}`;
    const rights = rightsByHome.get(home) ?? (await rightsIn(principal, environment));
    rightsByHome.set(home, rights);
    if (rights.read && (environment.ownerId === principal.userId || rights.others)) shown.push(environment);
  }
  return shown;
};

interface Row {
  environment: Environment;
  template: Template;
  latest: Latest;
  isFavorite: boolean;
}

const statusOf = ({ latest: { build, run } }: Row): string => workspaceStatus(build, run ? [run] : []);

const byOrder = (a: Row, b: Row): number =>
  Number(b.isFavorite) - Number(a.isFavorite) ||
  Number(statusOf(b) === 'running') - Number(statusOf(a) === 'running') ||
  a.environment.ownerName.localeCompare(b.environment.ownerName) ||
  a.environment.name.localeCompare(b.environment.name);

const isTrue = (text: string | undefined): boolean | undefined => (text === undefined ? undefined : text === 'true');

const fits = (search: Map<string, string>) => {
  const [ownerPart, namePart] = (search.get('') ?? '').includes('/') ? (search.get('') ?? '').split('/') : [];
  const part = namePart ?? search.get('name') ?? search.get('');
  const same = (key: string, value: string) => search.get(key) === undefined || search.get(key) === value.toLowerCase();
  return (row: Row): boolean => {
    const { environment, template, latest } = row;
    const outdated = isTrue(search.get('outdated'));
    const dormant = isTrue(search.get('dormant'));
    return (
      (part === undefined || environment.name.toLowerCase().includes(part)) &&
      (!ownerPart || environment.ownerName.toLowerCase() === ownerPart) &&
      same('template', template.name) &&
      same('status', statusOf(row)) &&
      same('organization', nameOf(environment.organization)) &&
      same('id', environment.id) &&
      (outdated === undefined || outdated === (latest.build.versionId !== template.activeVersionId)) &&
      (dormant === undefined || dormant === (environment.dormantAt !== undefined))
    );
  };
};

const list = async (call: Call) => {
  const search = searchIn(call.request, searchKeys);
  const { limit, offset } = pageIn(call.request);
  const environments = await visible(call, await candidates(call, search));
  const [templates, favorites] = await Promise.all([
    getTemplates(environments.map(({ templateId }) => templateId)),
    favoritesOf(call.principal.userId),
  ]);
  const rows = await Promise.all(
    environments.map(async (environment): Promise<Row[]> => {
      const template = templates.get(environment.templateId);
      if (!template || !environment.latestBuildId) return [];
      return [
        { environment, template, latest: await latestOf(environment), isFavorite: favorites.has(environment.id) },
      ];
    }),
  );
  const matching = rows
    .flat()
    .filter((row) => statusOf(row) !== 'deleted')
    .filter(fits(search))
    .sort(byOrder);
  const workspaces = matching
    .slice(offset, offset + limit)
    .map(({ environment, template, latest, isFavorite }) =>
      environmentDocument(environment, template, latest, { isFavorite }),
    );
  return ok({ workspaces, count: matching.length });
};

const readByName = async (call: Call) => {
  const { environment } = await byName(call);
  if (!environment.latestBuildId) throw notFound();
  return ok(await describe(call, environment));
};

export const environmentRoutes: Route[] = [
  route('GET', '/workspaces', list, { query: ['q', 'limit', 'offset'] }),
  route('GET', '/users/{user}/workspace/{name}', readByName, { query: ['include_deleted'] }),
  route(
    'GET',
    '/workspaces/{workspace}',
    async (call) => ok(await describe(call, (await livingById(call)).environment)),
    {
      query: ['include_deleted'],
    },
  ),
  route(
    'GET',
    '/workspaces/{workspace}/resolve-autostart',
    async (call) => {
      await livingById(call);
      return ok({ parameter_mismatch: false });
    },
    { query: ['include_deleted'] },
  ),
  ...environmentSettingRoutes,
];

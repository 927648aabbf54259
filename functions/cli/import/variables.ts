import type { Resource } from '../../client/client.ts';
import { type Import, idsIn, mapped, nameOf, pick } from './context.ts';
import { part } from './source.ts';

/** Variables and variable sets. */

/** What owns variables, on either side. */
interface Owner {
  /** `network`, as items are listed. */
  name: string;
  there: string;
  here: string;
  /** Where one is changed, without its id; absent: at the list's path. */
  changeAt?: string;
}

const idOf = ({ attributes }: Resource): string => `${attributes.category}/${attributes.key}`;

/** A sensitive one is created once its value is known, and left alone then: nobody can compare it. */
const copyVariable = async (
  { target, journal, secrets }: Import,
  { name, here, changeAt }: Owner,
  variable: Resource,
  existing: Resource | undefined,
): Promise<void> => {
  const { attributes } = variable;
  const item = `variable ${name}/${idOf(variable)}`;
  const common = pick(attributes, 'key category hcl description sensitive');
  const to = { item, type: 'vars', existing, path: here, changeAt: changeAt ?? here };
  if (!attributes.sensitive) {
    await target.sync({ ...to, attributes: { ...common, value: attributes.value ?? '' } });
    return;
  }
  if (existing) {
    await target.sync({ ...to, attributes: pick(attributes, 'description hcl') });
    return;
  }
  const value = target.isDry ? undefined : await secrets.valueOf(item);
  if (value === undefined) journal.note(item, 'todo', 'is sensitive: its value has to be given');
  else await target.sync({ ...to, attributes: { ...common, value } });
};

export const copyVariables = async (work: Import, owner: Owner): Promise<void> => {
  const [there, here] = [await work.source.all(owner.there), await work.target.all(owner.here)];
  for (const variable of there) {
    const existing = here.find((one) => idOf(one) === idOf(variable));
    await work.journal.attempt(`variable ${owner.name}/${idOf(variable)}`, () =>
      copyVariable(work, owner, variable, existing),
    );
  }
};

/** Two projects may have sets of the same name. */
const homeOf = (set: Resource, projects: (id: string) => string | undefined): string => {
  const parent = set.relationships?.parent?.data;
  if (!parent || Array.isArray(parent) || parent.type !== 'projects') return '';
  return projects(parent.id) ?? 'unknown';
};

const copySet = async (work: Import, listed: Resource, existing: Resource | undefined): Promise<void> => {
  const { source, target, into, projects, workspaces } = work;
  const there = await source.get(`/varsets/${part(listed.id)}`);
  const item = `variable set ${nameOf(there)}`;
  const home = homeOf(there, (id) => projects.get(id)?.id);
  const set = await target.sync({
    item,
    type: 'varsets',
    existing,
    path: `/organizations/${into}/varsets`,
    attributes: pick(there.attributes, 'name description global priority'),
    ...(home && !existing ? { relationships: { parent: { data: { type: 'projects', id: home } } } } : {}),
  });
  const here = `/varsets/${set.id}/relationships`;
  await copyVariables(work, {
    name: `set ${nameOf(there)}`,
    there: `/varsets/${part(there.id)}/relationships/vars`,
    here: `${here}/vars`,
  });
  const present = existing ? await target.client.get(`/varsets/${existing.id}`) : undefined;
  const copied = new Map([...workspaces].map(([id, one]) => [id, one.here]));
  for (const [kind, known] of [
    ['workspaces', copied],
    ['projects', projects],
  ] as const) {
    const ids = mapped(idsIn(there, kind), known);
    await target.add(item, `${here}/${kind}`, kind, present ? idsIn(present, kind) : [], ids);
  }
};

export const copyVariableSets = async (work: Import): Promise<void> => {
  const { source, target, journal, from, into, projects } = work;
  const here = await target.all(`/organizations/${into}/varsets`);
  for (const set of await source.all(`/organizations/${from}/varsets`)) {
    const home = homeOf(set, (id) => projects.get(id)?.id);
    const existing = here.find((one) => nameOf(one) === nameOf(set) && homeOf(one, (id) => id) === home);
    await journal.attempt(`variable set ${nameOf(set)}`, () => copySet(work, set, existing));
  }
};

/** The parameters of a policy set, which are its variables. */
export const copyParameters = async (work: Import, name: string, there: string, here: string): Promise<void> => {
  const present = await work.target.all(here);
  for (const parameter of await work.source.all(there)) {
    const key = String(parameter.attributes.key);
    const item = `parameter ${name}/${key}`;
    await work.journal.attempt(item, async () => {
      const existing = present.find(({ attributes }) => attributes.key === key);
      const { sensitive, value } = parameter.attributes;
      const secret = sensitive && !existing && !work.target.isDry ? await work.secrets.valueOf(item) : undefined;
      if (sensitive && !existing && secret === undefined) {
        work.journal.note(item, 'todo', 'is sensitive: its value has to be given');
        return;
      }
      const attributes = sensitive ? { key, sensitive } : { key, sensitive: false, value: value ?? '' };
      const initial = sensitive ? { value: secret } : {};
      await work.target.sync({
        ...{ item, type: 'vars', existing, path: here, changeAt: here, attributes },
        initial: { ...initial, category: 'policy-set' },
      });
    });
  }
};

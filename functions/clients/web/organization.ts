import { effect, signal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import type { Tab } from '#clients/client/page-addresses.ts';
import { useLive } from './live.ts';
import type { Item } from './parts/attached.tsx';
import { all, expired, get, signedIn } from './session.ts';

/** The user's permissions in visited organizations, so that views hide actions that would be refused. */

const organizations = signal<Record<string, Resource<'organizations'>>>({});

effect(() => {
  if (!signedIn.value && !expired.value) organizations.value = {};
});

export interface OrganizationProps {
  organization: string;
}

export interface WorkspaceProps extends OrganizationProps {
  workspace: Resource<'workspaces'>;
}

export interface WorkspaceAndRun {
  workspace: Resource<'workspaces'>;
  /** The run in progress, or else the latest completed run. */
  run: Resource<'runs'> | undefined;
  /** The latest health assessment. */
  health: Resource<'assessment-results'> | undefined;
  project: Resource<'projects'> | undefined;
}

const minute = 60_000;

/** Polls an organization while a view of it is on screen. */
export const useOrganization = (name: string): Resource<'organizations'> | undefined => {
  useLive(
    `organization/${name}`,
    async () => {
      const organization = await get<'organizations'>(`/organizations/${encodeURIComponent(name)}`);
      organizations.value = { ...organizations.peek(), [name]: organization };
      return organization;
    },
    minute,
  );
  return organizations.value[name];
};

/** Refreshes after a change. */
export const knowOrganization = (organization: Resource<'organizations'>): void => {
  organizations.value = { ...organizations.peek(), [organization.id]: organization };
};

/** Only within a view that polls the organization, like `may`. */
export const organizationNow = (name: string): Resource<'organizations'> | undefined => organizations.value[name];

export type OrganizationPermission = keyof Resource<'organizations'>['attributes']['permissions'];

/** False while loading. */
export const may = (organization: string, permission: OrganizationPermission): boolean =>
  organizationNow(organization)?.attributes.permissions[permission] === true;

/** Items for a picker. `tab`: of a workspace, for its link. */
export const itemsOf = (
  resources: Resource<'workspaces' | 'projects'>[],
  organization: string,
  kind: 'workspaces' | 'projects',
  tab: Tab = 'overview',
): Item[] =>
  resources.map(({ id, attributes: { name } }) => ({
    id,
    name,
    to:
      kind === 'workspaces'
        ? { view: 'workspace', organization, workspace: name, tab }
        : { view: 'project', organization, id },
  }));

/** All choices; none when the user may not choose. */
export const useItems = (organization: string, kind: 'workspaces' | 'projects', enabled: boolean): Item[] =>
  useLive(
    `${kind} of ${organization}: ${enabled}`,
    async () =>
      enabled
        ? itemsOf(
            (await all<'workspaces' | 'projects'>(`/organizations/${organization}/${kind}`)).data,
            organization,
            kind,
          )
        : [],
    enabled ? minute : undefined,
  ).value ?? [];

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { OrganizationView } from '../../client/page-addresses.ts';
import { hrefOf } from '../location.ts';
import { type OrganizationPermission, useOrganization } from '../organization.ts';
import { Shell } from './shell.tsx';

/** With the permission without which there is nothing to see. */
const sections: readonly (readonly [view: OrganizationView, name: string, permission?: OrganizationPermission])[] = [
  ['workspaces', 'Workspaces'],
  ['queue', 'Runs'],
  ['projects', 'Projects'],
  ['variable-sets', 'Variable sets', 'can-read-varsets'],
  ['run-tasks', 'Run tasks', 'can-read-run-tasks'],
  ['policy-sets', 'Policy sets', 'can-read-policies'],
  ['agent-pools', 'Agents', 'can-update-agent-pools'],
  ['version-control', 'Version control', 'can-update-oauth'],
  ['teams', 'Teams'],
  ['members', 'Members', 'can-view-users'],
  ['audit-trail', 'Audit trail', 'can-read-audit-trail'],
  ['organization-settings', 'Settings'],
];

/** The views of an organization. */
export const OrganizationShell = ({
  organization,
  at,
  children,
}: {
  organization: string;
  at: OrganizationView;
  children: ComponentChildren;
}) => {
  const permissions = useOrganization(organization)?.attributes.permissions;
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone, they do not all fit.
    tabs.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [permissions]);
  return (
    <Shell title={organization} crumbs={[{ text: organization }]}>
      <nav ref={tabs} class="tabs" aria-label="Organization">
        {sections.map(
          ([view, name, permission]) =>
            (permission === undefined || view === at || permissions?.[permission]) && (
              <a key={view} href={hrefOf({ view, organization })} aria-current={view === at ? 'page' : undefined}>
                {name}
              </a>
            ),
        )}
      </nav>
      {children}
    </Shell>
  );
};

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { OrganizationView } from '../../client/page-addresses.ts';
import { hrefOf } from '../location.ts';
import { useOrganization } from '../organization.ts';
import { sections } from '../sections.ts';
import { Shell } from './shell.tsx';

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

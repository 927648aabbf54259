import { read, segment, type Template, useRights } from '#clients/web/environments.ts';
import { useLive } from '#clients/web/live.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago } from '#clients/web/parts/basics.tsx';
import { Item, LiveList } from '#clients/web/parts/list.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';

/** Templates of environments. */
export const Templates = ({ organization }: OrganizationProps) => {
  const path = `/organizations/${segment(organization)}/templates`;
  const live = useLive(path, () => read<Template[]>(path), 15_000);
  const rights = useRights(organization);
  return (
    <OrganizationShell organization={organization} at="templates">
      <LiveList
        live={live}
        what="templates"
        none={
          <>
            No templates yet. A template is a Terraform configuration from which people start environments of their own.{' '}
            {rights.manage ? (
              <>
                Push one with <code>coder templates push</code>.
              </>
            ) : (
              `Ask an owner of ${organization} for one.`
            )}
          </>
        }
      >
        {(template) => (
          <Item
            key={template.id}
            to={{ view: 'template', organization, id: template.id }}
            title={template.display_name || template.name}
            tags={[template.deprecated && 'deprecated']}
            meta={metaOf(template)}
            notes={[
              <>
                changed <Ago at={template.updated_at} />
              </>,
            ]}
          />
        )}
      </LiveList>
    </OrganizationShell>
  );
};

/** What it is for, why it should not be used any more, and whose it is. */
const metaOf = ({
  name,
  display_name: title,
  description,
  deprecation_message: reason,
  created_by_name: by,
}: Template) => [reason, description || (title && title !== name ? name : ''), `by ${by}`].filter(Boolean).join(' · ');

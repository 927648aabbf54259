import { read, segment, type Template } from '#clients/web/environments.ts';
import { useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { Head } from '#clients/web/parts/head.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';

/** Templates of environments. */
export const Templates = ({ organization }: { organization: string }) => {
  const live = useLive(
    `templates/${organization}`,
    () => read<Template[]>(`/organizations/${segment(organization)}/templates`),
    () => 15_000,
  );
  return (
    <OrganizationShell organization={organization} at="templates">
      <Head title="Templates" />
      <Loaded live={live} what="templates">
        {(templates) =>
          templates.length === 0 ? (
            <p class="panel pad soft">
              No templates yet. A template is a Terraform configuration from which people start environments of their
              own. Push one with <code>coder templates push</code>.
            </p>
          ) : (
            <ul class="panel list" aria-label="Templates">
              {templates.map((template) => (
                <Line key={template.id} template={template} organization={organization} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </OrganizationShell>
  );
};

const Line = ({ template, organization }: { template: Template; organization: string }) => (
  <li>
    <a class="item" href={hrefOf({ view: 'template', organization, id: template.id })}>
      <span class="row">
        <span class="title">{template.display_name || template.name}</span>
        {template.deprecated && <span class="tag">deprecated</span>}
      </span>
      <span class="meta">{template.description || template.name}</span>
      <span class="end meta">
        changed <Ago at={template.updated_at} />
      </span>
    </a>
  </li>
);

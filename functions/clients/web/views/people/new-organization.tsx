import { go } from '#clients/web/location.ts';
import { Name, Text, type Values } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { Shell } from '#clients/web/parts/shell.tsx';
import { account, create } from '#clients/web/session.ts';

export const NewOrganization = () => {
  const submit = async (_: FormData, fields: Values) => {
    const organization = await create('/organizations', 'organizations', fields);
    go({ view: 'workspaces', organization: organization.id });
  };
  return (
    <Shell title="New organization" crumbs={[{ text: 'New organization' }]}>
      <h1>New organization</h1>
      <section class="panel pad narrow">
        <Form submit="Create organization" onSubmit={submit} onCancel={() => go({ view: 'home' })}>
          <Name hint="3 to 40 letters, digits, - and _. It is part of addresses in configurations." />
          <Text label="E-mail" name="email" required value={account.value?.attributes.email ?? ''} />
        </Form>
      </section>
    </Shell>
  );
};

import { go } from '#clients/web/location.ts';
import { Form, Text, textOf } from '#clients/web/parts/form.tsx';
import { Shell } from '#clients/web/parts/shell.tsx';
import { account, create } from '#clients/web/session.ts';

export const NewOrganization = () => {
  const submit = async (data: FormData) => {
    const organization = await create('/organizations', 'organizations', {
      name: textOf(data, 'name'),
      email: textOf(data, 'email'),
    });
    go({ view: 'workspaces', organization: organization.id });
  };
  return (
    <Shell title="New organization" crumbs={[{ text: 'New organization' }]}>
      <h1>New organization</h1>
      <section class="panel pad narrow">
        <Form submit="Create organization" onSubmit={submit} onCancel={() => go({ view: 'home' })}>
          <Text
            label="Name"
            name="name"
            required
            autoFocus
            pattern="[A-Za-z0-9_\-]+"
            hint="3 to 40 letters, digits, - and _. It cannot be changed later."
          />
          <Text label="E-mail" name="email" required value={account.value?.attributes.email ?? ''} />
        </Form>
      </section>
    </Shell>
  );
};

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import { exactTime } from '#clients/client/text/time.ts';
import { useList } from '../live.ts';
import { create } from '../session.ts';
import { Ago, Code, Loaded, Notice } from './basics.tsx';
import type { ButtonProps } from './button.tsx';
import { DeleteButton, FormButton } from './dialog.tsx';
import { Select, Text, type Values } from './fields.tsx';
import { Item, List } from './list.tsx';
import { Section } from './section.tsx';

/** Lists, creates and revokes tokens of users, teams and organizations. */

type Token = Resource<'authentication-tokens'>;

/** Labels by number of days. */
const lifetimes = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'a year'],
  ['', 'no expiration'],
] as const;

const day = 86_400_000;

/** The secret of a new token, shown only once. */
export const CreatedToken = ({ secret }: { secret: string | undefined }) =>
  secret && (
    <Notice kind="good">
      <div class="stack">
        <p>
          <strong>Copy this token now.</strong> It is not shown again.
        </p>
        <Code label="new token" text={secret} />
      </div>
    </Notice>
  );

/** Creation, last use and expiry. */
export const TokenDates = ({ token }: { token: Token }) => {
  const { 'created-at': createdAt, 'last-used-at': used, 'expired-at': ends } = token.attributes;
  const isOver = ends && Date.parse(ends) <= Date.now();
  return (
    <>
      created <Ago at={createdAt} /> ·{' '}
      {used ? (
        <>
          last used <Ago at={used} />
        </>
      ) : (
        'never used'
      )}{' '}
      · {ends ? `${isOver ? 'expired' : 'expires'} ${exactTime(ends)}` : 'never expires'}
    </>
  );
};

interface NewProps extends ButtonProps {
  title: string;
  /** Path to create it at. */
  path: string;
  /** The owner can have several, with descriptions. */
  described?: boolean;
  /** Explanation above the form. */
  children?: ComponentChildren;
  onMade(secret: string): void;
}

export const NewToken = ({ path, described, children, onMade, ...button }: NewProps) => {
  const submit = async (_: FormData, { days, ...description }: Values) => {
    const end = days ? new Date(Date.now() + Number(days) * day).toISOString() : null;
    const token = await create(path, 'authentication-tokens', { ...description, 'expired-at': end });
    onMade(token.attributes.token);
  };
  return (
    <FormButton {...button} submit="Create token" onSubmit={submit}>
      {children}
      {described && (
        <Text
          label="Description"
          name="description"
          required
          autoFocus
          hint="Where it is used, for example laptop or billing CI."
        />
      )}
      <Select label="Expiration" name="days" options={lifetimes} />
    </FormButton>
  );
};

interface RevokeProps {
  /** Description or id, for the confirmation. */
  name: string;
  label?: string;
  path: string;
  onClose(): void;
}

export const Revoke = ({ name, label, path, onClose }: RevokeProps) => (
  <DeleteButton text="Revoke" of={name} path={path} label={label} onClose={onClose}>
    Programs that use it lose access immediately. If you signed in with it, you are signed out.
  </DeleteButton>
);

interface ListProps {
  tokens: Token[];
  /** Text for an empty list. */
  none: ComponentChildren;
  mayRevoke: boolean;
  onChange(): void;
}

export const TokenList = ({ tokens, none, mayRevoke, onChange }: ListProps) => (
  <List label="Tokens" of={tokens} none={none}>
    {(token) => (
      <Item
        key={token.id}
        title={token.attributes.description || 'no description'}
        meta={
          <>
            <span class="mono">{token.id}</span> · <TokenDates token={token} />
          </>
        }
      >
        {mayRevoke && (
          <Revoke
            name={token.attributes.description || token.id}
            path={`/authentication-tokens/${token.id}`}
            onClose={onChange}
          />
        )}
      </Item>
    )}
  </List>
);

interface OwnedProps {
  /** A team, or an agent pool. */
  owner: Resource;
  mayChange: boolean;
  none: ComponentChildren;
}

/** All tokens of an owner with several. */
export const TokensOf = ({ owner, mayChange, none }: OwnedProps) => {
  const path = `/${owner.type}/${owner.id}/authentication-tokens`;
  const live = useList<'authentication-tokens'>(path, 30_000);
  const secret = useSignal<string | undefined>(undefined);
  const title = `New token of ${owner.attributes.name}`;
  const show = (created: string) => {
    secret.value = created;
    live.refresh();
  };
  return (
    <Section
      title="Tokens"
      action={mayChange && <NewToken small text="New token" title={title} path={path} described onMade={show} />}
    >
      <CreatedToken secret={secret.value} />
      <Loaded live={live} what="tokens">
        {(tokens) => <TokenList tokens={tokens} none={none} mayRevoke={mayChange} onChange={live.refresh} />}
      </Loaded>
    </Section>
  );
};

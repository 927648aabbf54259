import { type Answered, type Api, actingAs, type Sent, uniqueName } from '#test/support/api.ts';

/** An organization with a directory that calls its SCIM endpoints. */

const mediaType = 'application/scim+json';

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
export const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error';

export interface Directory {
  organization: string;
  configuration: string;
  token: string;
  call(method: string, path: string, body?: unknown, sent?: Sent): Promise<Answered>;
  /** Creates a user, active unless the attributes say otherwise. */
  user(userName: string, attributes?: object): Promise<Answered['body']>;
  group(displayName: string, attributes?: object): Promise<Answered['body']>;
  patch(path: string, ...operations: object[]): Promise<Answered>;
}

export const directoryOf = async (api: Api, organization: string): Promise<Directory> => {
  const { data } = (await api.post(`organizations/${organization}/scim-configuration`)).body;
  const made = await api.post(`scim-configurations/${data.id}/authentication-tokens`, { description: 'directory' });
  const { token } = made.body.data.attributes;
  const call: Directory['call'] = (method, path, body, sent = {}) =>
    api.call(method, `/scim/v2/${data.id}${path}`, {
      token,
      body,
      ...sent,
      headers: { 'content-type': mediaType, ...sent.headers },
    });
  const created = async (path: string, body: object) => {
    const answer = await call('POST', path, body);
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  };
  return {
    organization,
    configuration: data.id,
    token,
    call,
    user: (userName, attributes = {}) =>
      created('/Users', {
        schemas: [userSchema],
        userName,
        emails: [{ value: userName, primary: true }],
        ...attributes,
      }),
    group: (displayName, attributes = {}) => created('/Groups', { schemas: [groupSchema], displayName, ...attributes }),
    patch: (path, ...Operations) => call('PATCH', path, { schemas: [patchSchema], Operations }),
  };
};

/** An organization of another owner, whom the operator does not trust. */
export const strangersOrganization = async (api: Api) => {
  const { memberHelpers } = await import('#test/support/members.ts');
  const owner = await (await memberHelpers()).newUser(uniqueName('stranger'));
  const as = actingAs(api, owner.token);
  const name = uniqueName('foreign');
  const { status } = await as.post('organizations', { name, email: 'o@b.test' });
  if (status !== 201) throw new Error(`${status}`);
  return { name, as, owner };
};

let subjects = 0;

/** Signs a person in as the issuer would report them. @returns the user id */
export const signInAs = async (email: string): Promise<string> => {
  const { userOf } = await import('#resources/sign-in/people.ts');
  const person = { issuer: 'https://issuer.test', subject: `subject-${++subjects}`, email, emailVerified: true };
  return (await userOf(person)).id;
};

/** A session of the page, started by a sign-in of this user at the issuer. */
export const sessionOf = async (userId: string): Promise<string> => {
  const { identitiesOf, identityHash } = await import('#resources/users/identities.ts');
  const { beginSession } = await import('#resources/sign-in/session.ts');
  const [identity] = await identitiesOf(userId);
  return (await beginSession(userId, identity && identityHash(identity))).secret;
};

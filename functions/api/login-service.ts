/** What service discovery says of `terraform login`: sign-in/login-routes.ts answers there. */

export const clientId = 'terraform-cli';
const [firstPort, lastPort] = [10_000, 10_010];

export const loginService = {
  client: clientId,
  grant_types: ['authz_code'],
  authz: '/oauth/authorization',
  token: '/oauth/token',
  ports: [firstPort, lastPort],
};

/** Whether a URI is where Terraform listens for the answer. */
export const isTerraformHere = (uri: string): boolean => {
  const port = Number(/^http:\/\/localhost:(\d{5})\/login$/.exec(uri)?.[1]);
  return port >= firstPort && port <= lastPort;
};

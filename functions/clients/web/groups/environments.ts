export { EnvironmentView } from '../views/environments/environment.tsx';
export { Environments } from '../views/environments/environments.tsx';
export { TemplateView } from '../views/environments/template.tsx';
export { Templates } from '../views/environments/templates.tsx';

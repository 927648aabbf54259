import './style/base.css';
import './style/controls.css';
import './style/page.css';
import './style/run.css';
import './style/log.css';
import './style/diff.css';
import './style/tasks.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { arrive } from './issuer.ts';
import { keepWatch } from './live.ts';
import { followLinks } from './location.ts';

followLinks();
keepWatch();
void arrive();
render(<App />, document.getElementById('page') as HTMLElement);

// Writes docs/reference/settings.md; `npm run generate` calls it.
import { writeFileSync } from 'node:fs';
import { PAGE, settingsPage } from './page.ts';

writeFileSync(PAGE, settingsPage());

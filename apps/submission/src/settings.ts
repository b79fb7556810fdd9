// Imported first, so that every problem with the settings is reported before anything else is loaded.
import { checkSettings } from '@postroom/settings';

checkSettings('submission');

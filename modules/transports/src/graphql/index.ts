import './providers.ts';
import './mailboxes.ts';

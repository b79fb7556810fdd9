/** The demo project's sending domain. It is reserved for examples, so a mistake can't reach a real mailbox. */
export const DEMO_DOMAIN = 'demo.postroom.example';

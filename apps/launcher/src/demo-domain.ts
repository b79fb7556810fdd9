/** The domain that the demo project may send from; reserved for examples, so that nobody gets mail from it by mistake. */
export const DEMO_DOMAIN = 'demo.postroom.example';

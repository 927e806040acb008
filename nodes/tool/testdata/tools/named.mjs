export const work = () => ({});

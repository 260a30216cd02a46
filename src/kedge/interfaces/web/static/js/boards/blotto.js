export const setup = {};
export const number = () => "";

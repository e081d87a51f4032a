/** May we write? A deadline that is checked before every write, not a flag that somebody has to lower in time. */
export interface Leadership {
  holds(): boolean;
}

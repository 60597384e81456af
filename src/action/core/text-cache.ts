// Keeps what was made from texts, as long as the texts together are not too long; the longest unused goes first.

export class TextCache<Made> {
  private readonly made = new Map<string, Made>();
  private readonly capacityChars: number;
  private readonly make: (text: string) => Made;
  private chars = 0;

  constructor(capacityChars: number, make: (text: string) => Made) {
    this.capacityChars = capacityChars;
    this.make = make;
  }

  get(text: string): Made {
    const known = this.made.get(text);
    const made = known ?? this.make(text);
    if (known === undefined) this.chars += text.length;
    // Last again: a Map keeps the order in which its keys came.
    this.made.delete(text);
    this.made.set(text, made);
    this.trim();
    return made;
  }

  private trim(): void {
    for (const text of this.made.keys()) {
      if (this.chars <= this.capacityChars) return;
      this.made.delete(text);
      this.chars -= text.length;
    }
  }
}

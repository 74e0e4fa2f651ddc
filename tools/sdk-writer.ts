export function writeResources(_document: unknown, banner: string): string {
	return `// ${banner}\nexport {}\n`
}

/** The header `Link` (RFC 8288) to the next page of the list that this URL asked for. */
export function linkToNext(url: string, cursor: string): string {
	const [path, search] = url.split('?', 2)
	const query = new URLSearchParams(search)
	query.delete('offset')
	query.set('cursor', cursor)
	return `<${path}?${query}>; rel="next"`
}

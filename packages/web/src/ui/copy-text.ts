/** Returns whether the text is in the clipboard. Pages that came by plain http have no `navigator.clipboard`: then it is copied in the old way. */
export async function copyText(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text)
		return true
	} catch {
		const give = (event: ClipboardEvent) => {
			event.clipboardData?.setData('text/plain', text)
			event.preventDefault()
		}
		document.addEventListener('copy', give, { once: true, capture: true })
		const isCopied = document.execCommand('copy')
		document.removeEventListener('copy', give, { capture: true })
		return isCopied
	}
}

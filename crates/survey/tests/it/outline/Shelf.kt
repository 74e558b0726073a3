package shelf

const val ROOM = 12

/** A jar. */
data class Jar(val label: String) {
    val long: Boolean
        get() = label.length > 3

    fun open(): Boolean {
        val inner = 1
        return true
    }

    companion object {
        fun of(label: String) = Jar(label)
    }
}

interface Holder {
    fun hold(jar: Jar)
}

object Shelf : Holder {
    override fun hold(jar: Jar) {}
}

enum class Lid { TIN, CORK }

typealias Row = List<Jar>

suspend fun <T> close(jar: T): T = jar

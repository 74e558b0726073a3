package shelf;

import java.util.List;

/** A shelf. */
@Deprecated
public class Shelf<T extends Jar> implements Holder {
    private static final int ROOM = 12;

    public Shelf(int room) {
    }

    @Override
    public boolean hold(Jar jar) throws FullException {
        return true;
    }

    enum Lid { TIN, CORK }

    record Row(List<Jar> jars) {}
}

interface Holder {
    boolean hold(Jar jar);
}
